/** The email providers that stores may connect to, by `MAILING_LIST_URL`: one address, or several with commas. */
import { z } from '#runtime/schema'
import { BrevoMailingList, brevoUrl } from './brevo.ts'
import { MailchimpMailingList, mailchimpUrl } from './mailchimp.ts'
import type { MailingListPort } from './port.ts'

const providers: Readonly<Record<string, (url: string) => MailingListPort>> = {
  mailchimp: (url) => new MailchimpMailingList(mailchimpUrl(url)),
  brevo: (url) => new BrevoMailingList(brevoUrl(url)),
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
export const openMailingLists = (text: string): Record<string, MailingListPort> =>
  Object.fromEntries(addressesOf(text).map((url) => [nameOf(url), providers[nameOf(url)]!(url)]))
