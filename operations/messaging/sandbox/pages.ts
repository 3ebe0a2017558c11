/**
 * Sandbox pages that simulate the outside world: the phone that scans a QR code, and the provider's setup page of an
 * official number.
 */
import { answerHtml, escapeHtml } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { jsonAnswer } from '#runtime/page'
import { line, object, z } from '#runtime/schema'
import { parsePhone } from '#runtime/values/phone'
import { receiveHook } from '../callbacks/receive.ts'
import { getSandbox } from '../provider/sandbox.ts'

/** The country of numbers without a prefix. */
const sandboxCountry = 'BR'

const phone = z
  .string()
  .max(40)
  .refine((text) => parsePhone(text, sandboxCountry) !== null, 'is not a phone number')
export const scanFields = { phone, name: line(0, 120).nullish() }
export const scanBody = object(scanFields)
export const setupFields = {
  phone,
  displayName: line(1, 120),
  outcome: z.enum(['approve', 'review', 'deny']),
}
export const setupBody = object(setupFields)

export const e164 = (text: string): string => parsePhone(text, sandboxCountry)!

/**
 * Simulates a phone that scans a code; the store is updated through the signed webhook. Returns whether the code is
 * valid.
 */
export async function scanCode(
  ctx: SystemContext,
  payload: string,
  given: { phone: string; name?: string | null | undefined },
): Promise<boolean> {
  const hook = await getSandbox(ctx.adapters.messaging).qr.scan(
    payload,
    e164(given.phone),
    given.name || null,
  )
  if (!hook) return false
  await receiveHook(ctx, 'sandbox', hook.headers, hook.body)
  return true
}

export const scanForm = (): Response =>
  answerHtml(
    'Link a phone',
    '<p>This page stands for the phone that scans the QR code. Say which phone it is.</p>' +
      '<form method="post"><label for="phone">Phone</label>' +
      '<input id="phone" name="phone" type="tel" required maxlength="40" autocomplete="tel" ' +
      'placeholder="+55 11 98888-7777">' +
      '<label for="name">Name on the phone (optional)</label>' +
      '<input id="name" name="name" maxlength="120" autocomplete="name"><button>Scan the code</button></form>',
  )

export const scannedPage = (given: { phone: string }): Response =>
  answerHtml(
    'Scanned',
    `<p>${escapeHtml(e164(given.phone))} scanned the code. The store hears of it in a moment.</p>`,
  )

export const deadCodePage = (): Response =>
  answerHtml(
    'This code has expired',
    '<p>It ran out, was replaced, or was scanned already. Nothing was linked: scan the newest code of the session.</p>',
    410,
  )

export const unknownCodePage = (): Response =>
  answerHtml('There is no such code', '<p>Look whether the address is complete.</p>', 404)

export const setupForm = (returnUrl: string): Response =>
  answerHtml(
    'Connect an official number',
    '<p>This page stands for the provider, where a merchant proves to own a number.</p>' +
      '<form method="post"><label for="phone">Phone</label>' +
      '<input id="phone" name="phone" type="tel" required maxlength="40" autocomplete="tel" ' +
      'placeholder="+55 11 4000-1000">' +
      '<label for="displayName">Display name</label>' +
      '<input id="displayName" name="displayName" required maxlength="120" autocomplete="organization">' +
      '<label for="outcome">What the provider decides</label><select id="outcome" name="outcome">' +
      '<option value="approve">Approves at once</option>' +
      '<option value="review">Reviews the number first</option>' +
      '<option value="deny">The merchant cancels</option></select><button>Continue</button></form>',
    200,
    { formTarget: new URL(returnUrl).origin },
  )

export const deadSetupPage = (): Response =>
  answerHtml(
    'This setup is over',
    '<p>It was used, replaced by a newer one, or more than 60 minutes have passed. Start the setup again.</p>',
    410,
  )

export const unknownSetupPage = (): Response =>
  answerHtml('There is no such setup', '<p>Look whether the address is complete.</p>', 404)

/** A 410 response in JSON. */
export const goneAnswer = (message: string): Response =>
  jsonAnswer({ error: { code: 'conflict', message } }, 410)
