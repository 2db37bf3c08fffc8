"""The images that the operator allows."""

from django.conf import settings

from accounts.refusals import Refused

NOT_ALLOWED = "The operator of this site does not allow the image %(value)s."


def choices() -> list[tuple[str, str]]:
    """What an organizer chooses from: the images of PODIUM_IMAGES."""
    return [(name, name) for name in settings.SANDBOX_IMAGES]


def is_allowed(image: str) -> bool:
    """Whether runs may happen in this image; an empty name stands for the installation's own."""
    return not image or image in settings.SANDBOX_IMAGES


def require_allowed(image: str) -> None:
    """Refuse new runs in an image that is not allowed any more."""
    if not is_allowed(image):
        raise Refused(
            f"This phase asks for the image {image}, which the operator of this site does not allow any more.",
            status=409,
            mend="Its organizers choose another one.",
        )
