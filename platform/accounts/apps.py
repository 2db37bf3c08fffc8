from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps  # the module: Django would take the class itself for ours


class AccountsConfig(AppConfig):
    name = "accounts"


class OperatorsAdminConfig(admin_apps.AdminConfig):
    """Django's admin behind our door."""

    default_site = "accounts.admin_site.OperatorsSite"
    default = False
