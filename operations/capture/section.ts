import { section } from '#runtime/operation'

export default section({
  title: 'Popup, newsletter and forms',
  description:
    'The popup (with coupon or roulette) and the contact form catch new contacts on the storefront; what they catch is listed, exported, pushed to an email provider and turned into lists.',
  position: 9,
  order: [
    'get_newsletter_all_suscribers',
    'get_newsletter_settings',
    'post_newsletter_settings',
    'get_newsletter_publication_status',
    'post_newsletter_preview',
    'get_newsletter_metrics',
    'get_newsletter_export_subscribers',
    'post_newsletter_upload_image',
    'get_contact_form_settings',
    'put_contact_form_settings',
    'get_contact_form_crm_lists',
    'get_contact_form_submissions',
    'get_contact_form_submissions_export',
    'post_contact_form_submissions_delete',
    'post_mailprovider_sync_contacts',
  ],
})
