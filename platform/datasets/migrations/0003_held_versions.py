from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("datasets", "0002_cards_recipes_sharing"),
    ]

    operations = [
        migrations.AddField(
            model_name="datasetversion",
            name="is_held",
            field=models.BooleanField(
                default=False,
                help_text="New runs use an earlier version until this one is swapped in.",
                verbose_name="held back",
            ),
        ),
    ]
