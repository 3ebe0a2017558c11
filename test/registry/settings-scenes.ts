/** States in which a widget's settings have an effect, and the fields that shoppers do not see. */
import { picture, video } from '#test/support/demo-media'

type Change = Record<string, unknown>

const byCategory = { scope: 'categories', categoryIds: ['301'] }
const byProduct = { scope: 'products', productIds: ['1001'] }
const whenLow = { condition: 'low-stock', conditionValue: 50 }
const hours = { start: '08:00', end: '18:00' }
const fixed = { type: 'fixed', startLocal: '2026-11-20T08:00', endLocal: '2026-11-30T12:00' }
const film = { videoUrl: video('one'), posterUrl: null, title: null, linkedProductId: null }
const noConsent = { consentRequired: false, consentText: '' }
const optional = { enabled: true, required: false }
const field = { key: 'size', label: 'Tamanho', required: false, placeholder: null, options: null }
const email = { ...field, key: 'email', type: 'email', required: true }

/** Changes to the state of an operation before its fields are walked; several are walked in turn. */
const scenes: Record<string, readonly Change[]> = {
  patch_messaging_button_by_messagingButtonId: [
    { schedule: { isEnabled: true, hours: ['fri', 'sat'].map((day) => ({ day, ...hours })) } },
  ],
  post_newsletter_settings: [
    { display: { delaySeconds: 5, pagePatterns: ['/ofertas'] } },
    { fields: { email: optional, phone: optional, name: optional } },
  ],
  put_contact_form_settings: [
    { fields: [{ ...field, type: 'text' }, email] },
    { fields: [{ ...field, type: 'select', options: ['P', 'M'] }, email], ...noConsent },
  ],
  patch_cart_gifts_by_id: [
    { gift: { productId: '1001', variantId: '2001' } },
    { gift: { productId: '1002', variantId: null } },
  ],
  put_installments: [{ maxInstallments: 6, interestFreeInstallments: 3, monthlyInterestRate: 2 }],
  post_flash_countdown_bar_settings: [
    { countdown: { ...fixed, isEnabled: true, afterEnd: 'text', endedText: 'Acabou' } },
    { countdown: { isEnabled: true, type: 'daily', weekdays: [5] } },
    { countdown: { isEnabled: true, type: 'evergreen' } },
  ],
  put_product_stickers: [
    { ...byProduct, ...whenLow, preset: 'sale', imageUrl: picture('one') },
    { ...byCategory, kind: 'image', imageUrl: picture('one') },
    { kind: 'preset', preset: 'sale' },
  ],
  put_product_badges: [{ ...byProduct, ...whenLow }, byCategory],
  put_product_video_slider: [{ autoplay: false }],
  put_product_video_slider_home: [{ autoplay: false, isEnabled: true, videos: [film] }],
}

/** The scenes of an operation; one with a target is walked with each kind of target. */
export const scenesOf = (operation: string, state: object): readonly Change[] =>
  scenes[operation] ?? ('categoryIds' in state ? [byProduct, byCategory] : [{}])

/** Fields that shoppers do not see, or not on a page, by the reason: an operation and its fields, with all within. */
const hidden: Record<string, readonly string[]> = {
  'A name for the merchant': [
    ...['patch_bundles_by_id name', 'patch_cart_gifts_by_id name', 'put_product_content_blocks name'],
    ...['put_product_stickers name', 'put_product_badges name'],
  ],
  'Given by the server': ['put_product_content_blocks type', 'post_newsletter_settings roulette.prizes.id'],
  'Shows in the answer to the form': [
    'post_newsletter_settings couponDelivery coupon roulette.prizes.coupon',
  ],
  'The odds are secret': ['post_newsletter_settings roulette.prizes.probability roulette.prizes.stock'],
  'Decides who reads what a shopper sends': [
    'post_newsletter_settings contactListId isMailproviderEnabled',
    'put_contact_form_settings notifyEmails crmListId',
    'post_stock_notifications_settings isMailproviderEnabled',
  ],
  'Decides which messages are sent, and their texts': [
    'post_product_reviews_settings request reminder email message',
    'post_stock_notifications_settings ignoreStockThreshold templateEmail templateMessaging officialapiTemplateId',
  ],
  'Decides on later reviews': ['post_product_reviews_settings autoPublish'],
  'Never public': ['patch_product_reviews_by_reviewId_moderate reason'],
  'The checkout applies it': [
    ...['patch_promotions_by_id combinesWith', 'patch_bundles_by_id combinesWith'],
    'patch_cart_gifts_by_id usageLimit usageLimitPerCustomer',
  ],
}

const hiddenFields = Object.values(hidden).flatMap((each) => each.map((line) => line.split(' ')))
export const hiddenOf = (operation: string): string[] =>
  hiddenFields.flatMap(([id, ...fields]) => (id === operation ? fields : []))

/** Operations that are named here. */
export const named = [...Object.keys(scenes), ...hiddenFields.map(([id]) => id!)]
