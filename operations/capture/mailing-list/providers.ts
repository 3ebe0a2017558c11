/**
 * Opens the email providers that stores may connect to. `MAILING_LIST_URL` names them: one URL, or several separated by
 * commas.
 */
import { z } from '#runtime/schema'
import type { MailingListPort } from './port.ts'

/** Opens each provider by name. Its module is imported only on servers that use it. */
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

/** Schema of the setting `MAILING_LIST_URL`. */
export const mailingListUrl = z
  .string()
  .refine(
    (text) => parseAddresses(text).every((url) => Object.hasOwn(providers, parseProviderName(url))),
    'must be mailchimp://api.mailchimp.com, brevo://api.brevo.com, or both with a comma',
  )

/** Opens the providers, by the name that stores use to connect. Empty if there is only the sandbox. */
export async function openMailingLists(text: string): Promise<Record<string, MailingListPort>> {
  const opened = parseAddresses(text).map(async (url) => [
    parseProviderName(url),
    await providers[parseProviderName(url)]!(url),
  ])
  return Object.fromEntries(await Promise.all(opened))
}
