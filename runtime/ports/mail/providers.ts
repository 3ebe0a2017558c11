/**
 * Who sends our mail, by `MAIL_URL`. One more is an adapter beside these, a line here and one in README: nothing else
 * names a provider. It keeps the contract of `port.ts`.
 */
import type { Database } from '#db/database'
import type { Clock } from '#runtime/clock'
import { z } from '#runtime/schema'
import type { MailPort } from './port.ts'
import { postmarkMail, postmarkUrl } from './postmark.ts'
import { sandboxMail } from './sandbox.ts'

interface Wanted {
  url: string
  /** The sender of mails that name none. */
  from: string
  database: Database
  clock: Clock
}
interface Opened {
  mail: MailPort
  close(): Promise<void>
}
interface Provider {
  url: RegExp
  /** How an address of it begins, for who wrote another. */
  begins?: string
  /** Throws what is wrong with an address. */
  read?(url: string): unknown
  open(wanted: Wanted): Promise<Opened>
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
    begins: 'smtp:// or smtps://',
    read: (url) => new URL(url),
    async open({ url, from }) {
      const { smtpMail } = await import('./smtp.ts') // only who sends by it pays for its library
      const mail = smtpMail({ url, from })
      return { mail, close: async () => mail.close() }
    },
  },
  {
    url: /^postmark:\/\/.+$/,
    begins: 'postmark://',
    read: postmarkUrl,
    open: async ({ url, from }) => ({
      mail: postmarkMail({ ...postmarkUrl(url), from }),
      close: async () => {},
    }),
  },
]

const providerOf = (url: string): Provider | undefined => providers.find((each) => each.url.test(url))
const beginnings = providers.flatMap(({ begins }) => begins ?? []).join(', ')

/** `MAIL_URL` of the settings. */
export const mailUrl = z
  .string()
  .refine((url) => providerOf(url) !== undefined, `must begin with ${beginnings}`)

/** Throws what is wrong with an address that `mailUrl` let pass. */
export const readMailUrl = (url: string): unknown => providerOf(url)?.read?.(url)

/** Opens the provider of an address that `mailUrl` let pass. */
export const openMail = (wanted: Wanted): Promise<Opened> => providerOf(wanted.url)!.open(wanted)
