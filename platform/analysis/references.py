"""Sources that several analyses name, so that a report lists each of them once."""

CHAPTER = (
    "Guyon, I., Sun-Hosoya, L., Boullé, M., Escalante, H. J., Escalera, S., Liu, Z., Jajetic, D., Ray, B., "
    "Saeed, M., Sebag, M., Statnikov, A., Tu, W.-W., Viegas, E.: Analysis of the AutoML Challenge Series "
    "2015-2018. In: Hutter, F., Kotthoff, L., Vanschoren, J. (eds.): Automated Machine Learning, chapter "
    "10. Springer, 2019."
)
