/**
 * Reads `mercadopago://ACCESS_TOKEN:WEBHOOK_SECRET@api.mercadopago.com`, both percent-encoded; `?tls=off` for plain
 * HTTP. Throws an `Error` that names the missing part without showing secrets.
 */
export function readMercadoPagoUrl(url: string): {
  endpoint: string
  accessToken: string
  webhookSecret: string
} {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed?.protocol !== 'mercadopago:' || !parsed.host) {
    throw new Error('BILLING_URL: must be mercadopago://ACCESS_TOKEN:WEBHOOK_SECRET@api.mercadopago.com')
  }
  const accessToken = decodeURIComponent(parsed.username)
  const webhookSecret = decodeURIComponent(parsed.password)
  if (!accessToken) throw new Error('BILLING_URL: lacks the access token, before the colon')
  if (!webhookSecret) throw new Error('BILLING_URL: lacks the secret of the webhooks, between colon and @')
  const scheme = parsed.searchParams.get('tls') === 'off' ? 'http' : 'https'
  return { endpoint: `${scheme}://${parsed.host}`, accessToken, webhookSecret }
}
