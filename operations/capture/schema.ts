import { email, object, z } from '#runtime/schema'
import { cut } from '#runtime/values/cut'
import { seen } from '#runtime/values/signs'

const pageUrlAtMost = 2000

/** What a popup sends. Longer page addresses are cut: nobody is turned away for one. */
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

/** Kept of a page's address; null for what is none of a web page. */
export function pageUrlOf(text: string | undefined): string | null {
  const url = cut(text?.trim() ?? '', pageUrlAtMost)
  return /^https?:\/\/[^\s]+$/i.test(url) ? url : null
}

/** On one line, without control characters; null where nothing is left. */
export const nameOf = (text: string | undefined): string | null =>
  seen(text?.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replace(/ {2,}/g, ' '))
