/**
 * The accepted breaking changes since the last release, in the words that `npm run check` prints, each with a reason.
 * Each must also be in the changelog. The list is emptied at the next release.
 */
const knownCode = 'The provider said it, and it was folded into `provider-error` before'
const forbiddenName =
  'The gateway refuses an object with one of these two names: a field that has one could never be filled. It is refused where the merchant chooses it (issue 45, 5)'

export const accepted: Readonly<Record<string, string>> = {
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
}
