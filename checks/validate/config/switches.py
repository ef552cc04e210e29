"""Switches of config.json that model families of `transformers` turn on where the key is not written.

Every other switch is off where nothing is said, but those that encoders alone have off. Read from the configuration
classes of releases 4.57 and 5.24.
"""

from __future__ import annotations

from collections.abc import Mapping

# key → the values of model_type whose default is true
_ON: Mapping[str, str] = {
    "adapter_reuse_layer_norm": "xmod",
    "adaptive": "transfo-xl",
    "add_adapter": "seamless_m4t seamless_m4t_v2",
    "add_lm_hidden_dense_layer": "mega",
    "add_out_norm": "xlstm",
    "aligner_enable_bias": "EvollaModel evolla",
    "altup_correct_scale": "gemma3n_text",
    "apply_l2norm": "videoprism_text_model",
    "attention_bias": (
        "canary_decoder cohere_asr glm glm4 glm4v_moe_text glm_image_text gpt_neox gpt_oss "
        "granite_speech5_encoder jais2 openai_privacy_filter seed_oss"
    ),
    "attn_temperature_tuning": "llama4_text",
    "axial_pos_embds": "reformer",
    "bidirectional": "mega",
    "block_auto_adjust_ff_dim": "lfm2",
    "classifier_activation": "mobilebert",
    "concat_input": "roc_bert",
    "convolution_bias": "fastspeech2_conformer",
    "cross_attn_all_layers": "blt_local_decoder",
    "decoder_bias": "modernbert modernbert-decoder",
    "do_layer_norm_before": "opt",
    "enable_bias": "opt",
    "enable_moe_fp32_combine": "hy_v3",
    "enable_pronunciation": "roc_bert",
    "enable_shape": "roc_bert",
    "fast_qkv": "layoutlmv2 layoutxlm",
    "feat_proj_layer_norm": "hubert",
    "gating": "laguna",
    "gelu_activation": "flaubert xlm",
    "has_relative_attention_bias": "layoutlmv2 layoutlmv3 layoutxlm",
    "has_spatial_attention_bias": "layoutlmv2 layoutlmv3 layoutxlm",
    "index_kpool_always_select_tail": "glm5_next_text",
    "is_decoder": "blip_text_model pix2struct_text_model",
    "is_encoder": "flaubert xlm",
    "is_gated_act": "mt5 pop2piano umt5",
    "kda_safe_gate": "bailing_hybrid",
    "key_query_shared_bottleneck": "mobilebert",
    "layer_norm_elementwise_affine": "opt",
    "layernorm_embedding": "trocr",
    "learned_pos_emb": "mpt",
    "legacy": "deberta deberta-v2",
    "linear_allow_neg_eigval": "olmo_hybrid",
    "ln_before_adapter": "xmod",
    "mamba_conv_bias": "bamba falcon_h1 granitemoehybrid jamba zamba",
    "mamba_norm_before_gate": "falcon_h1",
    "mlp_bias": "jais2",
    "moe_renormalize": "bailing_hybrid kimi_linear",
    "mtp_hidden_states_first": "inkling_text",
    "multi_query": "falcon gpt_bigcode",
    "no_bias": "mpt",
    "norm_affine": "mega",
    "norm_reduction_force_float32": "xlstm",
    "norm_topk_prob": (
        "axk1 axk2 beam cohere2_moe deepseek_v3 deepseek_v32 deepseek_v4 dots3_note_text exaone_moe flint "
        "glm4_moe glm4_moe_lite glm4v_moe_text glm5_next_text glm_moe_dsa hy_v4 hy_v4_vl_text lara_mini "
        "lfm2_moe mellum mimo_v2_flash mistral4 qwen3_next qwen3_omni_moe_text qwen3_vl_moe_text "
        "qwen4_exp_text sarvam_mla sarvam_moe solar_open"
    ),
    "normalize_before_ffn": "mega",
    "normalize_before_mega": "mega",
    "parallel_attn": "falcon",
    "position_biased_input": "deberta deberta-v2",
    "prefix_lm": "hrm_text",
    "qk_layernorm": "persimmon",
    "qkv_bias": "flava_image_model flava_text_model qwen2_moe videoprism_text_model vilt",
    "relative_attention": "sew-d",
    "reset_position_index_per_cell": "tapas",
    "reshape_hidden_states": "beit",
    "residual_in_fp32": "falcon_mamba mamba mamba2",
    "return_last_states": "xlstm",
    "rms_norm": "mamba2",
    "rope_interleave": "axk1 deepseek_v3 glm4_moe_lite mistral4 sarvam_mla youtu",
    "same_length": "transfo-xl",
    "scale_attn_weights": "decision_transformer gpt-sw3 gpt2 gpt_bigcode imagegpt",
    "scale_decoder_outputs": "longt5 pop2piano t5 umt5",
    "scale_embedding": (
        "bigbird_pegasus biogpt m2m_100 nllb-moe pegasus_x plbart pp_formulanet_text seamless_m4t "
        "seamless_m4t_v2 speech_to_text speech_to_text_2 xglm"
    ),
    "scale_sqrt_depth": "tipsv2_text_model",
    "select_one_column": "tapas",
    "share_att_key": "sew-d",
    "share_encoder_decoder_embeddings": "marian",
    "share_encoders": "retribert",
    "shared_expert_sink": "inkling_text",
    "shared_input_output_embedding": "open-llama",
    "special_visual_initialize": "visual_bert",
    "stagger_local_blocks": "pegasus_x",
    "stop_gradient_from_pitch_predictor": "fastspeech2_conformer",
    "summary_use_proj": "clvp_decoder electra flaubert gpt-sw3 gpt2 openai-gpt xlm xlnet",
    "text_embed": "layoutlmv3",
    "tie_codebooks_embeddings": "csm",
    "trigram_input": "mobilebert",
    "untie_r": "transfo-xl xlnet",
    "use_attention_bias": "clvp_decoder",
    "use_attention_gate": "lfm3",
    "use_bias": "big_bird starcoder2 vits",
    "use_bottleneck": "mobilebert",
    "use_cnn_in_conformer": "fastspeech2_conformer",
    "use_conv_bias": "falcon_mamba mamba mamba2 zamba2",
    "use_entity_aware_attention": "luke",
    "use_expectation": "yoso",
    "use_expert_bias": "lfm2_moe",
    "use_fast_hash": "yoso",
    "use_lang_emb": "flaubert xlm",
    "use_learned_position_embeddings": "trocr",
    "use_macaron_style_in_conformer": "fastspeech2_conformer",
    "use_mean_pooling": "beit",
    "use_memory_efficient_attention": "open-llama",
    "use_mems_eval": "xlnet",
    "use_normalized_ffn": "mega",
    "use_parallel_residual": "gpt_neox",
    "use_post_norm": "hyperclovax",
    "use_qk_norm": "llama4_text sarvam_moe",
    "use_repmixer_blocks": "sam3_lite_text_text_model",
    "use_rotary_embedding": "clvp_encoder",
    "use_sandwich_norm": "lfm3",
    "use_stable_embedding": "open-llama",
    "use_stochastic_duration_prediction": "vits",
    "visual_embed": "layoutlmv3",
}

# key → the values of model_type that do without, where every other one has it on: vLLM lets a decoder look ahead where
# is_causal is false, and encoders always do.
_ON_BUT: Mapping[str, str] = {
    "is_causal": (
        "albert bert big_bird camembert convbert deberta deberta-v2 distilbert electra ernie eurobert funnel "
        "jina_embeddings_v3 layoutlm longformer megatron-bert mobilebert modernbert mpnet mra nomic_bert "
        "nystromformer rembert roberta roberta-prelayernorm roc_bert roformer squeezebert xlm-roberta "
        "xlm-roberta-xl xmod"
    ),
}


def default(key: str, family: object) -> bool:
    """What a switch is where the configuration of a family does not write it."""
    if key in _ON_BUT:
        return str(family) not in _ON_BUT[key].split()
    return str(family) in _ON.get(key, "").split()


def varies(key: str) -> bool:
    """Whether some family turns the switch on by itself: of an unknown family nothing is known then."""
    return key in _ON or key in _ON_BUT
