// Forwards the shopper's answer to the shop's own consent banner (Shopify's Customer Privacy API): the widgets store nothing
// until it allows analytics.
;(() => {
  const tell = (tries = 50) => {
    const privacy = window.Shopify?.customerPrivacy
    if (!window.storefront || !privacy?.analyticsProcessingAllowed) {
      if (tries > 0) setTimeout(tell, 200, tries - 1)
      return
    }
    window.storefront.consent(privacy.analyticsProcessingAllowed())
  }
  document.addEventListener('visitorConsentCollected', () => tell())
  if (window.Shopify?.loadFeatures) {
    window.Shopify.loadFeatures([{ name: 'consent-tracking-api', version: '0.1' }], () => tell())
  } else tell()
})()
