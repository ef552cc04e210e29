"""A cheap test for texts that may copy something, before `copies` is imported to look closer."""

from __future__ import annotations

from ..lazy import lazy

COPIES = lazy(
    r"\b(cp|rsync|aws|gsutil|gcloud|hf|huggingface-cli|modelscope|aibrix_download|downloader|rclone|mc|s3cmd|s5cmd|azcopy"
    r"|tar|unzip|wget|curl|git)\b"
)
