"""Design spaces: sets of models compared by the distribution of their errors.

After Radosavovic, Johnson, Xie, Lo and Dollár, "On Network Design Spaces for Visual Recognition", ICCV 2019
(arXiv 1905.13214); the paper's equations and figures are named where they are used.
"""
