/**
 * The accepted breaking changes since the last release, in the words that `npm run check` prints, each with a reason.
 * Each must also be in the changelog. The list is emptied at the next release.
 */
const knownCode = 'The provider said it, and it was folded into `provider-error` before'
const forbiddenName =
  'The gateway refuses an object with one of these two names: a field that has one could never be filled. It is refused where the merchant chooses it (issue 45, 5)'

const saidNow = 'It was refused before; the document says it now (issue 46, 1)'
const targeted = ['Promotion', 'ContentBlock', 'Sticker', 'Badge', 'SizeGuide'].flatMap((resource) =>
  ['Input', 'Update'].flatMap((ending) =>
    ['categoryIds', 'productIds', 'excludedProductIds'].map((field) => `${resource}${ending}.${field}`),
  ),
)
const distinctLists = [
  ...targeted,
  'OnboardingInput.answers.goals',
  'OnboardingActivateFeaturesInput.features',
  'FlashCountdownBarSettingsInput.countdown.weekdays',
  'BadgeSettingsUpdate.featuredPrice.excludedProductIds',
  'WishlistSettingsInput.contactFields',
  'StoreTestimonialsReorderUpdate.ids',
  'ProductContentBlocksReorderUpdate.ids',
  'LookSettingsInput.homeSections[].lookIds',
]

export const accepted: Readonly<Record<string, string>> = {
  'ActionBarSettingsInput.actions[].backgroundColor, left out, is "#15803d" instead of "#22c55e"':
    'The default was warned about: white text on it has a contrast of 2.3:1 (issue 47, 3)',
  'CampaignMessage.failureCode may be "window-closed" now': knownCode,
  'CampaignMessage.failureCode may be "too-long" now': knownCode,
  'CampaignMessage.failureCode may be "disconnected" now': knownCode,
  'CampaignMessage.failureCode may be "number-limit" now': knownCode,
  'CampaignsListsImportCsvInput.mapping.customFields must have another form: propertyNames {"pattern":"^(?!(?:name|customerName|firstName|phone|email|storeName|storeUrl)$)[A-Za-z][A-Za-z0-9_]{0,39}$"} → {"pattern":"^(?!(?:name|customerName|firstName|phone|email|storeName|storeUrl|constructor|prototype)$)[A-Za-z][A-Za-z0-9_]{0,39}$"}':
    forbiddenName,
  'PostCampaignsListsByIdImportCsvInput.mapping.customFields must have another form: propertyNames {"pattern":"^(?!(?:name|customerName|firstName|phone|email|storeName|storeUrl)$)[A-Za-z][A-Za-z0-9_]{0,39}$"} → {"pattern":"^(?!(?:name|customerName|firstName|phone|email|storeName|storeUrl|constructor|prototype)$)[A-Za-z][A-Za-z0-9_]{0,39}$"}':
    forbiddenName,
  'Contact.customFields has another form: propertyNames {"pattern":"^(?!(?:name|customerName|firstName|phone|email|storeName|storeUrl)$)[A-Za-z][A-Za-z0-9_]{0,39}$"} → {"pattern":"^(?!(?:name|customerName|firstName|phone|email|storeName|storeUrl|constructor|prototype)$)[A-Za-z][A-Za-z0-9_]{0,39}$"}':
    forbiddenName,
  'ContactInput.customFields must have another form: propertyNames {"pattern":"^(?!(?:name|customerName|firstName|phone|email|storeName|storeUrl)$)[A-Za-z][A-Za-z0-9_]{0,39}$"} → {"pattern":"^(?!(?:name|customerName|firstName|phone|email|storeName|storeUrl|constructor|prototype)$)[A-Za-z][A-Za-z0-9_]{0,39}$"}':
    forbiddenName,
  'ContactFormSettings.fields[].key has another form: pattern "^[a-z][A-Za-z0-9_]{0,39}$" → "^(?!(?:constructor|prototype)$)[a-z][A-Za-z0-9_]{0,39}$"':
    forbiddenName,
  'ContactFormSettingsUpdate.fields[].key must have another form: pattern "^[a-z][A-Za-z0-9_]{0,39}$" → "^(?!(?:constructor|prototype)$)[a-z][A-Za-z0-9_]{0,39}$"':
    forbiddenName,
  ...Object.fromEntries(
    distinctLists.map((field) => [`${field} must have another form: uniqueItems none → true`, saidNow]),
  ),
  'StoreUpdate.messagingConnectionType may no longer be any': saidNow,
  'StoreUpdate.settings.messagingConnectionType may no longer be any': saidNow,
  'StoreUpdate.attribution takes no other fields any more': saidNow,
  'StoreUpdate.settings.attribution takes no other fields any more': saidNow,
  'InstallmentRule.maxAmount goes beyond its bound: minimum -999999999999.99 → none':
    'It is always above 0, which `exclusiveMinimum` says (issue 46, 1)',
  'InstallmentRuleInput.maxAmount is bounded more narrowly: exclusiveMinimum none → 0': saidNow,
  'InstallmentRuleUpdate.maxAmount is bounded more narrowly: exclusiveMinimum none → 0': saidNow,
  'ProductExchangesRequestsConfirmInput.refundAmount is bounded more narrowly: minimum -999999999999.99 → 0':
    saidNow,
}
