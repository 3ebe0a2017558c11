/** Splits `ECOMMERCE_URL`: a comma separates several platforms, each once. */

/** The URLs by their scheme, such as `shopify`. Throws if a platform is named twice. */
export function splitProviderUrls(text: string): ReadonlyMap<string, string> {
  // A comma may also be part of a secret.
  const urls = text.split(/,(?=[a-z]+:\/\/)/)
  const byScheme = new Map(urls.map((url) => [url.slice(0, url.indexOf(':')), url]))
  if (byScheme.size < urls.length) throw new Error('ECOMMERCE_URL: names a platform twice')
  return byScheme
}
