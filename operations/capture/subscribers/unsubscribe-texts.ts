/** What the page behind an unsubscribe link says. */
import { escaped, htmlAnswer } from '#operations/store/door'
import { object, z } from '#runtime/schema'

export const unsubscribeQuery = object({ token: z.string().min(1).max(2000) })

export const leaveForm = (storeName: string): string =>
  `<p>You will get no more of these emails from ${escaped(storeName)}.</p>` +
  '<form method="post"><button>Unsubscribe</button></form>'

export const leftPage = (storeName: string): Response =>
  htmlAnswer(
    'You are unsubscribed',
    `<p>You will get no more of these emails from ${escaped(storeName)}.</p>`,
  )

export const forgedLink = (): Response =>
  htmlAnswer('This link does not work', '<p>Look whether it is complete.</p>', 404)
