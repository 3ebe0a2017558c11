import { email, object, z } from '#runtime/schema'
import { trimVisible } from '#runtime/values/confusables'
import { truncate } from '#runtime/values/truncate'

const pageUrlAtMost = 2000

/** The body of a submitted popup. A long page URL is truncated, because it must not prevent a subscription. */
export const captureBody = object({
  token: z.string().min(1).max(600),
  email: email.optional(),
  phone: z.string().max(40).optional(),
  name: z.string().trim().max(120).optional(),
  consent: z.boolean(),
  visitorId: z.string().max(64).optional(),
  pageUrl: z.string().max(8000).optional(),
  device: z.enum(['desktop', 'mobile']).optional(),
  website: z.string().max(500).optional().describe('Hidden: only machines fill it in'),
})
export type CaptureBody = z.infer<typeof captureBody>

/** Returns the page URL as it is stored, truncated; null if it is not an http(s) URL. */
export function parsePageUrl(text: string | undefined): string | null {
  const url = truncate(text?.trim() ?? '', pageUrlAtMost)
  return /^https?:\/\/[^\s]+$/i.test(url) ? url : null
}

/** Returns a name on one line, without control characters; null if nothing remains. */
export const parseName = (text: string | undefined): string | null =>
  trimVisible(text?.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replace(/ {2,}/g, ' '))
