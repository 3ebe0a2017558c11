/** The email providers that stores may connect to, by `MAILING_LIST_URL`: one address, or several with commas. */
import { z } from '#runtime/schema'
import type { MailingListPort } from './port.ts'

/** Imported where a server has them. */
const providers: Readonly<Record<string, (url: string) => Promise<MailingListPort>>> = {
  async mailchimp(url) {
    const { MailchimpMailingList, mailchimpUrl } = await import('./mailchimp.ts')
    return new MailchimpMailingList(mailchimpUrl(url))
  },
  async brevo(url) {
    const { BrevoMailingList, brevoUrl } = await import('./brevo.ts')
    return new BrevoMailingList(brevoUrl(url))
  },
}

const addressesOf = (text: string): string[] =>
  text === 'sandbox' ? [] : text.split(',').map((each) => each.trim())
const nameOf = (url: string): string => /^([a-z]+):\/\/[a-z0-9.-]+(:\d+)?\/?$/.exec(url)?.[1] ?? ''

/** `MAILING_LIST_URL` of the settings. */
export const mailingListUrl = z
  .string()
  .refine(
    (text) => addressesOf(text).every((url) => Object.hasOwn(providers, nameOf(url))),
    'must be mailchimp://api.mailchimp.com, brevo://api.brevo.com, or both with a comma',
  )

/** By the name that stores connect to; nothing where only the sandbox is. */
export async function openMailingLists(text: string): Promise<Record<string, MailingListPort>> {
  const opened = addressesOf(text).map(async (url) => [nameOf(url), await providers[nameOf(url)]!(url)])
  return Object.fromEntries(await Promise.all(opened))
}
