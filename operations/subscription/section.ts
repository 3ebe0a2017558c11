import { section } from '#runtime/operation'

export default section({
  title: 'Subscription',
  description: 'The plan of the store: its trial, checkouts, payments, changes of plan, coupons and usage.',
  position: 16,
  order: [
    'get_subscription',
    'get_subscription_payments',
    'get_subscription_checkout_result',
    'get_subscription_trial',
    'get_subscription_usage',
    'get_subscription_pre_approval',
    'post_subscription_cancel',
    'post_subscription_create_preapproval',
    'post_subscription_validate_coupon',
    'post_subscription_update_plan',
    'post_subscription_resume',
    'post_subscription_card_update',
  ],
})
