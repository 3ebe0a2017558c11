/** Options of the WhatsApp Business Cloud API adapter. */

/** A number that belongs to this server. */
export interface ServerNumber {
  numberId: string
  accessToken: string
}

export interface WhatsappOptions {
  /** Base URL with the version and without a trailing slash: `https://graph.facebook.com/v26.0`. */
  graphUrl: string
  /** The signup page: `https://www.facebook.com/v26.0/dialog/oauth`. */
  dialogUrl: string
  appId: string
  appSecret: string
  /** The login configuration of the embedded signup. */
  configId: string
  /** Version of the embedded signup, for example `v4`; null: the login configuration decides. */
  signupVersion: string | null
  /** The webhook address that `check` expects; null: not checked. */
  callbackUrl: string | null
  /** The service's number that stores share, and the approved template that wraps their texts. */
  shared: (ServerNumber & { template: { name: string; language: string } }) | null
  /** The number of the assistant. */
  assistant: (ServerNumber & { phone: string }) | null
  /** Timeout of a send; other calls have a longer one. */
  sendTimeoutMs?: number
  callTimeoutMs?: number
}

/** Credentials of a store's official number, stored encrypted. */
export interface WhatsappCredentials {
  accessToken: string
  numberId: string
  accountId: string
  /** PIN of the two-step verification; null for a number that the signup itself connected. */
  pin: string | null
  /** True if the number is also used with the WhatsApp Business app. */
  isOnApp?: boolean
}

const example = 'whatsapp://APP_ID@graph.facebook.com/v26.0?config=CONFIG_ID'

/**
 * Parses `MESSAGING_URL`: `whatsapp://APP_ID@graph.facebook.com/v26.0?config=CONFIG_ID`. Optional parts, URL-encoded:
 * `&signup=v4` for another version of the embedded signup; `&shared=NUMBER_ID:TOKEN&sharedTemplate=NAME/LANGUAGE` for
 * the shared number; `&assistant=NUMBER_ID:TOKEN&assistantPhone=+55…` for the assistant's number. Throws an error that
 * names the invalid part.
 */
export function readWhatsappUrl(text: string, appSecret: string | null): WhatsappOptions {
  if (!URL.canParse(text)) throw new Error(`MESSAGING_URL: must be an address such as ${example}`)
  const url = new URL(text)
  const query = url.searchParams
  const appId = decodeURIComponent(url.username)
  const configId = query.get('config') ?? ''
  if (!appId || !configId)
    throw new Error(`MESSAGING_URL: must name the app and its configuration: ${example}`)
  if (!appSecret)
    throw new Error('MESSAGING_APP_SECRET: is required with MESSAGING_URL: the secret of the app')
  const version = url.pathname.replace(/\/+$/, '')
  const shared = parseServerNumber(query, 'shared')
  const [name, language] = (query.get('sharedTemplate') ?? '').split('/')
  if (shared && !(name && language))
    throw new Error('MESSAGING_URL: shared needs sharedTemplate=NAME/LANGUAGE')
  const assistant = parseServerNumber(query, 'assistant')
  const phone = (query.get('assistantPhone') ?? '').replace(/^ ?\+?/, '+')
  if (assistant && !/^\+\d{8,15}$/.test(phone)) {
    throw new Error('MESSAGING_URL: assistant needs assistantPhone in E.164')
  }
  return {
    graphUrl: `https://${url.host}${version}`,
    dialogUrl: `https://www.facebook.com${version}/dialog/oauth`,
    appId,
    appSecret,
    configId,
    signupVersion: (query.get('signup') ?? 'v4') || null,
    callbackUrl: null,
    shared: shared && { ...shared, template: { name: name!, language: language! } },
    assistant: assistant && { ...assistant, phone },
  }
}

function parseServerNumber(query: URLSearchParams, name: string): ServerNumber | null {
  const text = query.get(name)
  if (!text) return null
  const [, numberId, accessToken] = /^(\d+):(.+)$/.exec(text) ?? []
  if (!numberId || !accessToken) throw new Error(`MESSAGING_URL: ${name} must be NUMBER_ID:TOKEN`)
  return { numberId, accessToken }
}
