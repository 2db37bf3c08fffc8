"""What is changed about a dataset as a whole: its texts, who else may use it, whether everybody may see it.

`by` is who asks; None is the operator at a terminal, who may do everything.
"""

from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from datasets import policy
from datasets.models import Dataset, DatasetShare
from datasets.policy import Access

TEXTS = ("title", "description", "private_description", "licence", "citation", "source")


def describe(dataset: Dataset, *, by: User | None, **texts: str) -> Dataset:
    """Write its texts, those of TEXTS that are given."""
    _permit(by, dataset, Access.EDITOR, "change its texts")
    unknown = sorted(set(texts) - set(TEXTS))
    if unknown:
        raise Refused(f"A dataset has no text {unknown[0]!r}.", mend=f"It has {', '.join(TEXTS)}.")
    if not texts.get("title", dataset.title).strip():
        raise Refused("A dataset needs a title.")
    for name, text in texts.items():
        longest = getattr(Dataset._meta.get_field(name), "max_length", None)
        if longest is not None and len(text) > longest:
            raise Refused(f"The {name} has {len(text)} characters; {longest} are the most.")
        setattr(dataset, name, text.strip())
    dataset.save(update_fields=list(texts))
    return dataset


def share(dataset: Dataset, *, with_user: User, role: str, by: User | None) -> DatasetShare:
    """Let another organizer use it, or change it; a second time changes the role."""
    _permit(by, dataset, Access.OWNER, "share it")
    if role not in DatasetShare.Role.values:
        raise Refused(f"There is no role {role!r}.", mend=f"Roles are {', '.join(DatasetShare.Role.values)}.")
    if with_user.pk == dataset.owner_id:
        raise Refused(f"{with_user} owns {dataset} already.", status=409)
    made, _ = DatasetShare.objects.update_or_create(dataset=dataset, user=with_user, defaults={"role": role})
    return made


def unshare(dataset: Dataset, *, user: User, by: User | None) -> None:
    """End a share; who has one may also give it back.

    What the person has put into a phase stays there: runs and boards depend on it.
    """
    if by is None or by.pk != user.pk:
        _permit(by, dataset, Access.OWNER, "end a share of it")
    ended, _ = DatasetShare.objects.filter(dataset=dataset, user=user).delete()
    if not ended:
        raise Refused(f"{dataset} is not shared with {user}.", status=404)


def publish(dataset: Dataset, *, public: bool, by: User | None) -> Dataset:
    """Let everybody see its card and take its public files, or end that.

    While a blind phase hides it, it stays hidden, whatever is said here: `dataset_policy` sees to that.
    """
    _permit(by, dataset, Access.OWNER, "make it public")
    with transaction.atomic():
        locked = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
        if public and not locked.licence:
            mend = "Write under which terms others may use it."
            raise Refused("A public dataset needs a licence.", mend=mend)
        if public and locked.current is None:
            raise Refused("A dataset without data cannot be public.", status=409)
        Dataset.objects.filter(pk=dataset.pk).update(is_public=public)
    dataset.is_public = public
    return dataset


def _permit(by: User | None, dataset: Dataset, least: Access, what: str) -> None:
    if by is not None and policy.own_access(by, dataset) < least:
        who = "its owner" if least == Access.OWNER else "its owner and editors"
        raise Refused(f"Only {who} may {what}.", status=403)
