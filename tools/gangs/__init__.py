"""Parts of tools/gang_quality.py."""
