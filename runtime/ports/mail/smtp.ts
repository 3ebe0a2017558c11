import type { Readable } from 'node:stream'
import nodemailer from 'nodemailer'
import { truncate } from '#runtime/values/truncate'
import { AccessLost, Refused, Unavailable } from '../errors.ts'
import type { Precondition } from '../provider.ts'
import { buildMessageId, checkRecipient, type MailPort, parseDomain } from './port.ts'

/** An error of nodemailer: its own code, the server's reply, and the command that the server replied to. */
interface SmtpFailure {
  code?: string
  responseCode?: number
  command?: string
  /** The text of the reply, or of the connection's failure. */
  response?: string
}

/** Codes of replies that concern our login, not the message (RFC 4954). */
const loginReplies = new Set([530, 534, 535, 538])

/** Hosts in the local network: loopback, private and link-local addresses, names without a dot, and private zones. */
const localHosts = [
  /^(localhost|[^.:]+)$/,
  /\.(localhost|local|internal|lan|home\.arpa)$/,
  /^(127|10)\.\d+\.\d+\.\d+$|^(192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\.\d+\.\d+$/,
  /^\[(::1|f[cd][0-9a-f]{2}:.*|fe80:.*)\]$/,
]

/**
 * Whether a server without STARTTLS is refused, since password and mail would cross foreign networks unencrypted. Local
 * hosts are exempt. `requireTLS` in the address overrides this rule.
 */
export function requiresTls(text: string): boolean {
  const url = new URL(text)
  const explicit = url.searchParams.get('requireTLS')
  if (explicit !== null) return explicit !== 'false'
  const host = url.hostname.toLowerCase().replace(/\.$/, '')
  return url.protocol === 'smtp:' && !localHosts.some((local) => local.test(host))
}

/**
 * Sends mail through an SMTP server. `url`: `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte.
 * `from`: the sender of messages without one. The timeouts, in milliseconds, are for connecting, for silence on the
 * socket, and for one message in total, including its wait in the queue.
 */
export function smtpMail(options: {
  url: string
  from: string
  connectTimeoutMs?: number
  socketTimeoutMs?: number
  sendTimeoutMs?: number
}): MailPort & { close(): void } {
  const { url, from, connectTimeoutMs = 10_000, socketTimeoutMs = 20_000, sendTimeoutMs = 120_000 } = options
  const domain = parseDomain(from)
  const isTlsRequired = requiresTls(url)
  const transport = nodemailer.createTransport({
    pool: true,
    url,
    ...(isTlsRequired ? { requireTLS: true } : {}),
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    socketTimeout: socketTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })

  // After its reply 354 a server may accept the message even if its final reply is lost. Nodemailer reads the message's
  // body only after that reply. So `accepted` is `unknown` if the body was read, and `no` otherwise.
  const bodies = new WeakMap<AbortSignal, Readable>()
  transport.use('stream', (mail, done) => {
    mail.message.processFunc((body: Readable) => {
      if (mail.data.signal) bodies.set(mail.data.signal, body)
      return body
    })
    done()
  })

  return {
    async send(mail) {
      checkRecipient(mail.to)
      const messageId = buildMessageId(mail.idempotencyKey, domain)
      const signal = AbortSignal.timeout(sendTimeoutMs)
      try {
        await transport.sendMail({
          messageId,
          signal,
          to: { name: '', address: mail.to },
          from: mail.from ?? from,
          replyTo: mail.replyTo,
          subject: mail.subject,
          html: mail.html,
          text: mail.text,
          headers: mail.headers,
          attachments: mail.attachments?.map(({ fileName, contentType, content }) => ({
            filename: fileName,
            contentType,
            content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
            contentDisposition: 'attachment' as const,
          })),
        })
      } catch (error) {
        throw toProviderError(error, bodies.get(signal)?.readableDidRead ?? false)
      }
      return { messageId }
    },
    async check() {
      const findings: Precondition[] = [checkSender(domain)]
      try {
        await transport.verify()
        findings.push({
          code: 'server',
          isFine: true,
          message: 'The mail server answers and takes the login',
        })
      } catch (error) {
        const failure = toProviderError(error, false)
        const why = truncate((error as Error).message.replace(/\s+/g, ' '), 300)
        const isLost = failure instanceof AccessLost
        findings.push({
          code: isLost ? failure.code : 'server',
          isFine: false,
          message: `${failure.message}: ${why}`,
          remedy: isLost ? failure.remedy : 'Look at host, port and certificate of the server in MAIL_URL',
        })
      }
      return findings
    },
    close: () => transport.close(),
  }
}

const checkSender = (domain: string): Precondition =>
  domain === 'localhost'
    ? {
        code: 'sender',
        isFine: false,
        message: 'MAIL_FROM names no domain of yours',
        remedy: 'Set MAIL_FROM to an address that the mail server may send for',
      }
    : { code: 'sender', isFine: true, message: `Mail is sent for ${domain}` }

/**
 * The word "relay" in a reply, but not inside a host's name such as smtp-relay.example.com.
 */
const relayWord = /(?<![\w.@-])relay(?:s|ed|ing)?(?![\w@]|[.-]\w)/i

/**
 * Whether the server relays no mail for us to any recipient. The same reply codes also concern a single message;
 * enhanced codes 5.1.x and 5.2.x concern the recipient.
 */
const isRelayDenied = ({ responseCode = 0, response = '' }: SmtpFailure): boolean =>
  [550, 551, 553, 554].includes(responseCode) &&
  relayWord.test(response) &&
  !/unverified|^\d{3}[ -]5\.[12]\./i.test(response)

function toProviderError(cause: unknown, bodyWasRead: boolean): Refused | Unavailable {
  const failure = (cause ?? {}) as SmtpFailure
  const { code, responseCode = 0, command = '' } = failure
  // A 4xx reply during login means that the server fails, not that the password is wrong.
  if (loginReplies.has(responseCode) || (code === 'EAUTH' && (responseCode === 0 || responseCode >= 500))) {
    return new AccessLost(
      'mail-login-refused',
      'The mail server refused the login',
      'The operator of this server must put user and password of the mail server in MAIL_URL',
      { cause },
    )
  }
  if (code === 'ETLS' && command === 'STARTTLS' && responseCode >= 500) {
    return new AccessLost(
      'mail-without-tls',
      'The mail server offers no encryption',
      'The operator of this server must use smtps:// or a server with STARTTLS in MAIL_URL; requireTLS=false sends in clear',
      { cause },
    )
  }
  if ((command === 'RCPT TO' || command === 'MAIL FROM') && isRelayDenied(failure)) {
    return new AccessLost(
      'mail-relay-denied',
      'The mail server passes on no mail of ours',
      'The operator of this server must give MAIL_URL a login, or have the mail server allow our network',
      { cause },
    )
  }
  // In reply to RCPT TO, 552 means too many recipients (RFC 5321, 4.5.3.1.10) or a full mailbox: both are temporary.
  if (command === 'RCPT TO' && responseCode === 552) {
    return new Unavailable('no', 'The mailbox takes no mail at the moment', { cause })
  }
  // 503 means that the session is in a wrong state: not a reason to refuse the message.
  const permanent = responseCode >= 500 && responseCode !== 503
  const unsendable = responseCode === 0 && (code === 'EENVELOPE' || code === 'EMESSAGE')
  if (command === 'RCPT TO' && permanent) {
    return new Refused('recipient-refused', 'The mail server refused the address', { cause })
  }
  if (unsendable || (permanent && (command === 'MAIL FROM' || command === 'DATA'))) {
    return new Refused('message-refused', 'The mail server refused the message', { cause })
  }
  const answered = responseCode > 0
  return new Unavailable(bodyWasRead && !answered ? 'unknown' : 'no', 'The mail server does not answer', {
    cause,
  })
}
