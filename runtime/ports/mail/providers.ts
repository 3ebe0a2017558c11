/**
 * The mail providers that `MAIL_URL` can name. To add a provider, write an adapter for `port.ts` in this folder, and
 * add it here and in docs/deploying.md; nothing else names a provider.
 */
import type { Database } from '#db/database'
import type { Clock } from '#runtime/clock'
import { z } from '#runtime/schema'
import type { MailPort } from './port.ts'
import { parsePostmarkUrl, postmarkMail } from './postmark.ts'
import { sandboxMail } from './sandbox.ts'

interface MailOptions {
  url: string
  /** The sender of mails without one. */
  from: string
  /** The base of this server's public addresses. */
  publicUrl: string
  database: Database
  clock: Clock
}
interface OpenedMail {
  mail: MailPort
  close(): Promise<void>
}
interface Provider {
  url: RegExp
  /** The scheme of the provider's address, for the error message. */
  scheme?: string
  /** Throws an error that says what is wrong with an address. */
  parseUrl?(url: string): unknown
  open(options: MailOptions): Promise<OpenedMail>
}

const providers: readonly Provider[] = [
  {
    url: /^sandbox$/,
    open: async ({ database, clock }) => ({
      mail: sandboxMail({ db: database.root as never, clock }),
      close: async () => {},
    }),
  },
  {
    url: /^smtps?:\/\/.+$/,
    scheme: 'smtp:// or smtps://',
    parseUrl: (url) => new URL(url),
    async open({ url, from }) {
      const { smtpMail } = await import('./smtp.ts') // only users of SMTP load its library
      const mail = smtpMail({ url, from })
      return { mail, close: async () => mail.close() }
    },
  },
  {
    url: /^postmark:\/\/.+$/,
    scheme: 'postmark://',
    parseUrl: parsePostmarkUrl,
    open: async ({ url, from, publicUrl }) => ({
      mail: postmarkMail({ ...parsePostmarkUrl(url), from, hookUrl: `${publicUrl}/hooks/mail/postmark` }),
      close: async () => {},
    }),
  },
]

const findProvider = (url: string): Provider | undefined => providers.find((each) => each.url.test(url))
const schemes = providers.flatMap(({ scheme }) => scheme ?? []).join(', ')

/** The schema of `MAIL_URL`. */
export const mailUrl = z
  .string()
  .refine((url) => findProvider(url) !== undefined, `must begin with ${schemes}`)

/** Throws an error that says what is wrong with an address that `mailUrl` accepted. */
export const parseMailUrl = (url: string): unknown => findProvider(url)?.parseUrl?.(url)

/** Opens the provider of an address that `mailUrl` accepted. */
export const openMail = (options: MailOptions): Promise<OpenedMail> =>
  findProvider(options.url)!.open(options)
