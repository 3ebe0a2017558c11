/**
 * The email providers that stores may connect to, from `MAILING_LIST_URL`: one address, or several separated by commas.
 */
import { z } from '#runtime/schema'
import type { MailingListPort } from './port.ts'

/** Imported only on servers that use them. */
const providers: Readonly<Record<string, (url: string) => Promise<MailingListPort>>> = {
  async mailchimp(url) {
    const { MailchimpMailingList, parseMailchimpUrl } = await import('./mailchimp.ts')
    return new MailchimpMailingList(parseMailchimpUrl(url))
  },
  async brevo(url) {
    const { BrevoMailingList, parseBrevoUrl } = await import('./brevo.ts')
    return new BrevoMailingList(parseBrevoUrl(url))
  },
}

const parseAddresses = (text: string): string[] =>
  text === 'sandbox' ? [] : text.split(',').map((each) => each.trim())
const parseProviderName = (url: string): string => /^([a-z]+):\/\/[a-z0-9.-]+(:\d+)?\/?$/.exec(url)?.[1] ?? ''

/** `MAILING_LIST_URL` of the settings. */
export const mailingListUrl = z
  .string()
  .refine(
    (text) => parseAddresses(text).every((url) => Object.hasOwn(providers, parseProviderName(url))),
    'must be mailchimp://api.mailchimp.com, brevo://api.brevo.com, or both with a comma',
  )

/** By the name that stores use to connect; empty if there is only the sandbox. */
export async function openMailingLists(text: string): Promise<Record<string, MailingListPort>> {
  const opened = parseAddresses(text).map(async (url) => [
    parseProviderName(url),
    await providers[parseProviderName(url)]!(url),
  ])
  return Object.fromEntries(await Promise.all(opened))
}
