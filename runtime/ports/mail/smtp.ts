import type { Readable } from 'node:stream'
import nodemailer from 'nodemailer'
import { Refused, Unavailable } from '../errors.ts'
import { checkRecipient, type MailPort, messageIdOf } from './port.ts'

/** What nodemailer tells of a failure: its own code, the server's reply, the command that was answered. */
interface SmtpFailure {
  code?: string
  responseCode?: number
  command?: string
}

/** Replies about our login, not about the message: 530, 534, 535 and 538 of RFC 4954. */
const loginReplies = new Set([530, 534, 535, 538])

/**
 * Mail through an SMTP server. `url`: `smtp://user:password@host:587`, or `smtps://` for TLS from the first
 * byte; `from`: the sender of messages that name none. Times are in milliseconds: to connect, of silence on
 * the socket, and for one message in all, its wait in the queue included.
 */
export function smtpMail(options: {
  url: string
  from: string
  connectTimeoutMs?: number
  socketTimeoutMs?: number
  sendTimeoutMs?: number
}): MailPort & { close(): void } {
  const { url, from, connectTimeoutMs = 10_000, socketTimeoutMs = 20_000, sendTimeoutMs = 120_000 } = options
  const domain = /@([^\s@>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
  const transport = nodemailer.createTransport({
    pool: true,
    url,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    socketTimeout: socketTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })

  // A server that said 354 may have taken the message even when its last word is lost. Nodemailer reads the
  // message only then, so whether it was read tells `unknown` from `no`.
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
      const messageId = messageIdOf(mail.idempotencyKey, domain)
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
        throw translate(error, bodies.get(signal)?.readableDidRead ?? false)
      }
      return { messageId }
    },
    close: () => transport.close(),
  }
}

function translate(cause: unknown, bodyWasRead: boolean): Refused | Unavailable {
  const { code, responseCode = 0, command = '' } = (cause ?? {}) as SmtpFailure
  if (code === 'EAUTH' || loginReplies.has(responseCode)) {
    return new Unavailable('no', 'The mail server refused the login', { cause })
  }
  // 503 says that the session is in the wrong state, not that the message is wrong.
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
