"""The names of the meta-features in their groups, without the libraries that measure them: pages need no more."""

DEFINITIONS = "1"

SIMPLE = (
    "NumberOfInstances",
    "LogNumberOfInstances",
    "NumberOfFeatures",
    "LogNumberOfFeatures",
    "DatasetRatio",
    "LogDatasetRatio",
    "InverseDatasetRatio",
    "LogInverseDatasetRatio",
    "NumberOfNumericFeatures",
    "NumberOfCategoricalFeatures",
    "RatioNumericalToNominal",
    "RatioNominalToNumerical",
    "NumberOfMissingValues",
    "PercentageOfMissingValues",
    "NumberOfFeaturesWithMissingValues",
    "PercentageOfFeaturesWithMissingValues",
    "NumberOfInstancesWithMissingValues",
    "PercentageOfInstancesWithMissingValues",
)
TARGETS = (
    "NumberOfClasses",
    "ClassEntropy",
    "ClassProbabilityMin",
    "ClassProbabilityMax",
    "ClassProbabilityMean",
    "ClassProbabilitySTD",
    "SymbolsMin",
    "SymbolsMax",
    "SymbolsMean",
    "SymbolsSTD",
    "SymbolsSum",
)
STATISTICAL = (
    "SkewnessMin",
    "SkewnessMax",
    "SkewnessMean",
    "SkewnessSTD",
    "KurtosisMin",
    "KurtosisMax",
    "KurtosisMean",
    "KurtosisSTD",
    "PCAFractionOfComponentsFor95PercentVariance",
    "PCAKurtosisFirstPC",
    "PCASkewnessFirstPC",
)
METHODS = ("LDA", "NaiveBayes", "DecisionTree", "DecisionNodeLearner", "RandomNodeLearner", "1NN")
STRATIFIED = tuple(name for name in METHODS if name != "RandomNodeLearner")  # a node at random says little twice
NUMBERS = ("Ridge", "DecisionTree", "DecisionNode", "1NN")
LANDMARKS = (
    *(f"Landmark{name}" for name in METHODS),
    *(f"StratifiedLandmark{name}" for name in STRATIFIED),
    *(f"LandmarkR2{name}" for name in NUMBERS),
)
EXTRA = "pymfe."  # before the names of the extra group
# Titles of the groups with the names in them, in the order of pages. What has another name is of the extra group.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Size, types and missing values", SIMPLE),
    ("Classes and symbols", TARGETS),
    ("Statistics and principal components", STATISTICAL),
    ("Landmarks", LANDMARKS),
)
KNOWN = tuple(name for _, names in GROUPS for name in names)


def is_landmark(name: str) -> bool:
    """Whether a meta-feature is what a method reached, and so no description of the data alone."""
    return "Landmark" in name
