"""Rules on LoRA adapters and the base they were trained on."""
