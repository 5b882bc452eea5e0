"""The restore drill: a backup under load, put back beside workers that run on."""
