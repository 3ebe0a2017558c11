/**
 * Classifies all text columns, one by one. A column in no list fails the test, because a column that nobody classified
 * would not be erased either.
 */

/** Columns without data of shoppers, in any table: kinds and states, things, the team, the merchant. */
export const neutralColumns: ReadonlySet<string> = new Set(
  `
  account_id action actor_type agreement_cycle agreement_id agreement_status alert_type amount_reason assignee_name
  attribution author_title automation_type bar billing_cycle body brand branding buttons cancel_comment
  cancel_reason carrier cart_id category category_ids challenge channel click_token client_id code code_hash
  color columns conditions connection_type consent_text content_type converted_order_id country coupon
  coupon_code coupon_codes coupon_status created_by_name credentials crm_status currency cursor
  custom_field_names dedupe_key default_status design device digest direction display_name display_name_status
  domain edited_at end_reason entity_id entity_type entry_key environment error error_code event
  examples exchange_for exchange_order_id failed_at failure failure_code failure_reason
  family_hash fault fault_column file_name filters flow footer from_status fulfillment_status granted
  handle hash header headers health hold_reason id image_url images import_key inbound_id issue_code items key
  kind language last_message_direction last_message_status last_message_type level line_units link list_id
  list_name locale logo_url mailprovider_status media_url mentions message_id
  messaging_connection_type mode moderated_by number number_id onboarding options order_item_id order_number
  origin outcome owner part pause_reason payment_method payment_status photo_url pin placeholders plan_id
  platform platform_store_id port preferences prefix prize_label product_id product_image_url product_name
  product_url provider provider_checkout_id provider_id provider_message_id provider_payment_id public_id
  purpose quality query query_hash quiet_hours reason reason_label reasons receipt_url recipient_ids
  redirect_uri redirect_uris refresh_hash refund_method rejection_code remedy reply_author   request_hash request_key resource_id return_address return_code return_method return_url revoked_reason role
  scan_cursor scheduled_change scopes script_id send_window sent_by_name session_codes session_ref settings
  shortcut skip_reason sku slug source source_id source_name source_type spec state state_hash status step_id
  subject sync_error sync_status tags templates terms tier tier_settings tier_source timezone to_status
  token_hash told_code topic type unit url user_id value variant_id variant_name verified_source via visibility
  visitor_id walked_to wanted widget wrong_at
`
    .trim()
    .split(/\s+/),
)

/** Tables without persons, whose names, texts and contents are the merchant's or ours. */
export const merchantTables: ReadonlySet<string> = new Set(
  `
  agencies api_keys automations bar_settings campaigns connection_health contact_lists content_blocks
  conversion_products discount_intents discounts exchange_settings exchange_used_units fomo_alerts
  home_video_sliders inbox_quick_replies inbox_tags installment_rules job_schedules looks message_template_names
  message_templates messaging_buttons oauth_clients oauth_codes product_labels product_snapshot_variants
  product_snapshots provider_health review_settings review_tokens server_settings size_guides
  stock_alert_settings stock_counter_settings storefront_scripts testimonial_settings video_sliders
  widget_settings
`
    .trim()
    .split(/\s+/),
)
