/** What the adapter of the WhatsApp Business Cloud API is opened with. */

/** A number of the server's own. */
export interface ServerNumber {
  numberId: string
  accessToken: string
}

export interface WhatsappOptions {
  /** With the version, without a slash at its end: `https://graph.facebook.com/v26.0`. */
  graphUrl: string
  /** Where merchants sign up: `https://www.facebook.com/v26.0/dialog/oauth`. */
  dialogUrl: string
  appId: string
  appSecret: string
  /** The login configuration of the embedded signup. */
  configId: string
  /** Of the embedded signup, `v4`; null leaves it to the configuration. */
  signupVersion: string | null
  /** Where callbacks come to, as `check` looks for it; null: it is not looked at. */
  callbackUrl: string | null
  /** The service's number that stores share, and the approved template that their texts go inside of. */
  shared: (ServerNumber & { template: { name: string; language: string } }) | null
  /** The number that merchants talk to the assistant on. */
  assistant: (ServerNumber & { phone: string }) | null
  /** For a send; other calls have more. */
  sendTimeoutMs?: number
  callTimeoutMs?: number
}

/** Of a store's official number, kept sealed. */
export interface WhatsappCredentials {
  accessToken: string
  numberId: string
  accountId: string
  /** Of the two-step verification; null for a number that the signup itself connected. */
  pin: string | null
  /** In use with the WhatsApp Business app too. */
  isOnApp?: boolean
}

const example = 'whatsapp://APP_ID@graph.facebook.com/v26.0?config=CONFIG_ID'

/**
 * Reads `MESSAGING_URL`: `whatsapp://APP_ID@graph.facebook.com/v26.0?config=CONFIG_ID`, of another version of the embedded
 * signup `&signup=v4`, and where the server has them
 * `&shared=NUMBER_ID:TOKEN&sharedTemplate=NAME/LANGUAGE` and `&assistant=NUMBER_ID:TOKEN&assistantPhone=+55…`, their
 * texts URL-encoded. Throws with a sentence that names the fault.
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
  const shared = numberOf(query, 'shared')
  const [name, language] = (query.get('sharedTemplate') ?? '').split('/')
  if (shared && !(name && language))
    throw new Error('MESSAGING_URL: shared needs sharedTemplate=NAME/LANGUAGE')
  const assistant = numberOf(query, 'assistant')
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

function numberOf(query: URLSearchParams, name: string): ServerNumber | null {
  const text = query.get(name)
  if (!text) return null
  const [, numberId, accessToken] = /^(\d+):(.+)$/.exec(text) ?? []
  if (!numberId || !accessToken) throw new Error(`MESSAGING_URL: ${name} must be NUMBER_ID:TOKEN`)
  return { numberId, accessToken }
}
