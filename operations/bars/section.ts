import { section } from '#runtime/operation'

export default section({
  title: 'Storefront bars and alerts',
  description:
    'Bars on the shop’s pages: progress towards free shipping, a countdown with announcements, buttons; and small alerts made only from what really happened in the store.',
  position: 13,
  order: [
    'get_free_shipping_bar_settings',
    'post_free_shipping_bar_settings',
    'get_free_shipping_bar_threshold_suggestion',
    'post_flash_countdown_bar_settings',
    'get_flash_countdown_bar_settings',
    'get_action_bar_settings',
    'post_action_bar_settings',
    'post_action_bar_deactivate',
    'get_fomo_alerts',
    'get_fomo_alerts_variables',
    'get_fomo_alerts_by_alertType',
    'post_fomo_alerts_create',
    'put_fomo_alerts_update',
  ],
})
