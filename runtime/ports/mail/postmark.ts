/**
 * Sends mail through Postmark's API. Postmark has no idempotency keys: if its answer is lost, the message may be sent
 * twice. Both have the same `Message-ID` (`X-PM-KeepID`), so mail programs show the message once.
 */
import { truncate } from '#runtime/values/truncate'
import { AccessLost, Refused, Throttled, Unavailable } from '../errors.ts'
import type { Precondition } from '../provider.ts'
import { parseRetryAfter } from '../retry-after.ts'
import { buildMessageId, checkRecipient, type Mail, type MailPort, parseDomain } from './port.ts'
import { hookUser, readPostmarkHook } from './postmark-hook.ts'

export interface PostmarkOptions {
  /** The API's address, such as `https://api.postmarkapp.com`. */
  endpoint: string
  serverToken: string
  /** The password of the webhooks; null if none is set up. */
  hookPassword: string | null
  /** The address of this server's route for the webhooks. */
  hookUrl?: string
  /** The message stream; default: Postmark's `outbound`. */
  stream: string | null
  /** The sender of mails without one. */
  from: string
  timeoutMs?: number
}

/**
 * Parses `postmark://SERVER_TOKEN:WEBHOOK_PASSWORD@api.postmarkapp.com?stream=outbound`, where the password is optional.
 * An error names the missing part without quoting the address, which contains the token.
 */
export function parsePostmarkUrl(
  text: string,
): Pick<PostmarkOptions, 'endpoint' | 'serverToken' | 'hookPassword' | 'stream'> {
  const url = URL.parse(text)
  if (url?.protocol !== 'postmark:' || !url.host || !url.username) {
    throw new Error('MAIL_URL: must be postmark://SERVER_TOKEN:WEBHOOK_PASSWORD@api.postmarkapp.com')
  }
  const scheme = url.searchParams.get('tls') === 'off' ? 'http' : 'https'
  return {
    endpoint: `${scheme}://${url.host}`,
    serverToken: decodeURIComponent(url.username),
    hookPassword: decodeURIComponent(url.password) || null,
    stream: url.searchParams.get('stream'),
  }
}

/**
 * Postmark's own error codes; the HTTP status is 422 for most of them. Codes above 1000 concern parts of its API that
 * we do not use.
 */
const codes = {
  token: [10],
  maintenance: [100],
  invalid: [300],
  sender: [400, 401],
  account: [405, 412, 413],
  inactive: [406],
  pace: [429],
} as const
const isOneOf = (name: keyof typeof codes, code: number): boolean =>
  (codes[name] as readonly number[]).includes(code)

/** Failures after which nothing can have changed: the server was not reached. */
const unreached = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

interface Answer {
  status: number
  code: number
  message: string
  /** In milliseconds; Postmark does not document the header. */
  retryAfterMs: number
  body: Record<string, unknown>
}

export function postmarkMail(options: PostmarkOptions): MailPort {
  const { endpoint, serverToken, hookPassword, hookUrl, stream, from, timeoutMs = 30_000 } = options
  const domain = parseDomain(from)

  async function request(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    let response: Response
    let text: string
    try {
      response = await fetch(endpoint + path, {
        method,
        headers: {
          accept: 'application/json',
          'x-postmark-server-token': serverToken,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      text = await response.text()
    } catch (cause) {
      const { code } = ((cause as Error).cause ?? {}) as { code?: string }
      const accepted = method === 'GET' || unreached.has(code ?? '') ? 'no' : 'unknown'
      throw new Unavailable(accepted, 'The mail provider does not answer', { cause })
    }
    const read = parseObject(text)
    return {
      status: response.status,
      code: typeof read.ErrorCode === 'number' ? read.ErrorCode : 0,
      message: typeof read.Message === 'string' ? read.Message.replace(/\s+/g, ' ') : '',
      retryAfterMs: parseRetryAfter(response.headers, 2000),
      body: read,
    }
  }

  return {
    async send(mail) {
      checkRecipient(mail.to)
      const messageId = buildMessageId(mail.idempotencyKey, domain)
      const answer = await request('POST', '/email', buildMessage(mail, { from, stream, messageId }))
      if (answer.status !== 200 || answer.code !== 0) throw toProviderError(answer, mail.from ?? from, from)
      return { messageId }
    },

    async check() {
      const findings: Precondition[] = []
      try {
        const server = await request('GET', '/server')
        if (server.status !== 200) throw toProviderError(server, from, from)
        findings.push({ code: 'server', isFine: true, message: 'Postmark takes the server token' })
        findings.push(checkDelivery(server.body))
        const name = stream ?? 'outbound'
        const found = await request('GET', `/message-streams/${encodeURIComponent(name)}`)
        const checked = checkStream(name, found)
        findings.push(checked)
        if (!checked.isFine) return findings
        const hooks = await request('GET', `/webhooks?MessageStream=${encodeURIComponent(name)}`)
        findings.push(checkWebhook(hooks, hookUrl, hookPassword))
      } catch (error) {
        if (!(error instanceof Unavailable || error instanceof Throttled || error instanceof Refused))
          throw error
        const isLost = error instanceof AccessLost
        findings.push({
          code: isLost ? error.code : 'server',
          isFine: false,
          message: error.message,
          remedy: isLost ? error.remedy : 'Try again later; look at the address in MAIL_URL',
        })
      }
      return findings
    },

    ...(hookPassword === null
      ? {}
      : {
          parseWebhook: (headers: Headers, body: Uint8Array) => readPostmarkHook(hookPassword, headers, body),
        }),
  }
}

const checkDelivery = ({ DeliveryType: type }: Record<string, unknown>): Precondition =>
  type === 'Sandbox'
    ? {
        code: 'delivery',
        isFine: false,
        message: 'The server at Postmark is a sandbox: no mail is delivered',
        remedy: 'Make a server of delivery type Live, and put its token in MAIL_URL',
      }
    : { code: 'delivery', isFine: true, message: 'The server at Postmark delivers' }

function checkStream(name: string, { status, body }: Answer): Precondition {
  const remedy = 'Name a transactional or broadcast stream of the server in MAIL_URL: ?stream=…'
  if (status !== 200 || body.ArchivedAt)
    return { code: 'stream', isFine: false, message: `Postmark has no message stream ${name}`, remedy }
  return body.MessageStreamType === 'Inbound'
    ? { code: 'stream', isFine: false, message: `The message stream ${name} only receives`, remedy }
    : { code: 'stream', isFine: true, message: `Mail goes by the message stream ${name}` }
}

interface Webhook {
  Url?: string
  HttpAuth?: { Username?: string; Password?: string } | null
  Triggers?: Record<string, { Enabled?: boolean } | undefined>
}

/** Checks that a webhook of the stream reports bounces and complaints here. */
function checkWebhook({ status, body }: Answer, hookUrl = '', password: string | null): Precondition {
  const missing = (message: string): Precondition => ({
    code: 'webhook',
    isFine: false,
    isOptional: true,
    message,
    remedy: `Put a password into MAIL_URL (postmark://SERVER_TOKEN:WEBHOOK_PASSWORD@…), and add at Postmark the webhook ${hookUrl.replace('://', `://${hookUser}:WEBHOOK_PASSWORD@`)} with the events Bounce, Spam Complaint and Subscription Change`,
  })
  if (password === null) return missing('MAIL_URL has no password for webhooks: bounces are not read')
  const all = status === 200 && Array.isArray(body.Webhooks) ? (body.Webhooks as Webhook[]) : []
  const here = URL.parse(hookUrl)
  const ours = all.filter(({ Url = '' }) => {
    const url = URL.parse(Url)
    return url !== null && url.host === here?.host && url.pathname === here.pathname
  })
  if (ours.length === 0) return missing('The message stream has no webhook of this server')
  const isEnabled = (name: string): boolean => ours.some(({ Triggers }) => Triggers?.[name]?.Enabled === true)
  const off = ['Bounce', 'SpamComplaint', 'SubscriptionChange'].filter((name) => !isEnabled(name))
  return off.length > 0
    ? missing(`The webhook of this server does not report ${off.join(', ')}`)
    : { code: 'webhook', isFine: true, message: 'Postmark reports bounces and complaints to this server' }
}

/** Postmark takes 80 characters in a value of metadata. */
const metadataAtMost = 80

/** Names store and mail in the reports of Postmark. */
const buildMetadata = ({ storeId, idempotencyKey }: Mail): object =>
  storeId
    ? {
        Metadata: {
          store: storeId,
          ...(idempotencyKey.length <= metadataAtMost ? { key: idempotencyKey } : {}),
        },
      }
    : {}

/** Joins lines, since a header must be one line. */
const oneLine = (text: string): string => text.replace(/[\r\n]+\s*/g, ' ')

function buildMessage(
  mail: Mail,
  { from, stream, messageId }: { from: string; stream: string | null; messageId: string },
): object {
  const headers = Object.entries({ ...mail.headers, 'Message-ID': messageId, 'X-PM-KeepID': 'true' })
  return {
    From: formatSender(mail.from ?? from),
    To: mail.to,
    ...(mail.replyTo ? { ReplyTo: oneLine(mail.replyTo) } : {}),
    Subject: oneLine(mail.subject),
    HtmlBody: mail.html,
    TextBody: mail.text,
    Headers: headers.map(([Name, value]) => ({ Name, Value: oneLine(value) })),
    ...(stream ? { MessageStream: stream } : {}),
    ...(mail.attachments?.length ? { Attachments: mail.attachments.map(buildAttachment) } : {}),
    ...buildMetadata(mail),
    // Tracking is off, since links in our mails are signed and secret.
    TrackOpens: false,
    TrackLinks: 'None',
  }
}

const buildAttachment = ({ fileName, contentType, content }: NonNullable<Mail['attachments']>[number]) => ({
  Name: oneLine(fileName),
  ContentType: contentType,
  Content: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64'),
})

/** Formats a sender such as `Shop <name@example.com>`. The name is quoted, since it may contain special characters. */
function formatSender(text: string): string {
  const [, name = '', address = ''] = /^(.*)<([^<>]*)>\s*$/s.exec(text) ?? []
  const plain = oneLine(name)
    .trim()
    .replace(/^"(.*)"$/, '$1')
  return address && plain
    ? `"${plain.replace(/[\\"]/g, '\\$&')}" <${oneLine(address).trim()}>`
    : oneLine(text)
}

function toProviderError(
  { status, code, message, retryAfterMs }: Answer,
  sender: string,
  ours: string,
): Error {
  const accessLost = (name: string, text: string, remedy: string) =>
    new AccessLost(name, `${text}${message ? `: ${truncate(message, 300)}` : ''}`, remedy)
  // HTTP status 401 concerns the token; Postmark's code 401 an unconfirmed sender.
  if (status === 401 || status === 403 || isOneOf('token', code)) {
    return accessLost(
      'mail-login-refused',
      'Postmark does not take the server token',
      'The operator of this server must put the token of a Postmark server in MAIL_URL',
    )
  }
  if (status === 429 || isOneOf('pace', code)) return new Throttled(retryAfterMs)
  if (status === 503 || isOneOf('maintenance', code)) {
    return new Unavailable('no', 'The mail provider is not working at the moment')
  }
  if (status >= 500 || status === 408)
    return new Unavailable('unknown', `The mail provider answered ${status}`)
  if (isOneOf('sender', code) && sender === ours) {
    return accessLost(
      'mail-sender-unknown',
      'Postmark does not send for this sender',
      'The operator of this server must confirm the sender or its domain at Postmark, or change MAIL_FROM',
    )
  }
  if (isOneOf('account', code)) {
    return accessLost(
      'mail-account-closed',
      'Postmark does not send for this account',
      'The operator of this server must have the account approved, or pay it, at Postmark',
    )
  }
  if (code > 1000 && /stream/i.test(message)) {
    return accessLost(
      'mail-stream-unknown',
      'Postmark has no such message stream',
      'The operator of this server must name a stream of the Postmark server in MAIL_URL: ?stream=…',
    )
  }
  const isAboutRecipient = isOneOf('inactive', code) || (isOneOf('invalid', code) && /'To'/.test(message))
  return isAboutRecipient
    ? new Refused('recipient-refused', 'The mail provider refused the address')
    : new Refused('message-refused', 'The mail provider refused the message')
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    // Not JSON, for example an HTML page of a proxy: the status alone is used.
    return {}
  }
}
