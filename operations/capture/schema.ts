import { email, object, z } from '#runtime/schema'
import { trimVisible } from '#runtime/values/confusables'
import { truncate } from '#runtime/values/truncate'

const pageUrlAtMost = 2000

/** The body of a submitted popup. Longer page addresses are truncated, since no visitor is refused for one. */
export const captureBody = object({
  token: z.string().min(1).max(600),
  email: email.optional(),
  phone: z.string().max(40).optional(),
  name: z.string().max(120).optional(),
  consent: z.boolean(),
  visitorId: z.string().max(64).optional(),
  pageUrl: z.string().max(8000).optional(),
  device: z.enum(['desktop', 'mobile']).optional(),
  website: z.string().max(500).optional().describe('Hidden: only machines fill it in'),
})
export type CaptureBody = z.infer<typeof captureBody>

/** The part of a page's address that is stored; null if it is not a web page. */
export function parsePageUrl(text: string | undefined): string | null {
  const url = truncate(text?.trim() ?? '', pageUrlAtMost)
  return /^https?:\/\/[^\s]+$/i.test(url) ? url : null
}

/** A name on one line without control characters; null if nothing remains. */
export const parseName = (text: string | undefined): string | null =>
  trimVisible(text?.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replace(/ {2,}/g, ' '))
