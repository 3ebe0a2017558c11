/** The pages behind the link that confirms a review. */
import { escaped, htmlAnswer } from '#operations/store/door'
import { object, z } from '#runtime/schema'
import type { Unconfirmed } from './confirm.ts'

export const confirmQuery = object({ token: z.string().min(1).max(200) })

/** A button: following the link alone, as mail scanners do, changes nothing. */
export const confirmPage = ({ productName }: Unconfirmed): Response =>
  htmlAnswer(
    'Was it you?',
    `<p>Confirm that you wrote the review of ${escaped(productName ?? 'a product')}.</p>` +
      '<form method="post"><button>Yes, it was me</button></form>',
  )

export const confirmedPage = (): Response =>
  htmlAnswer('Thank you', '<p>Your review is confirmed. You can close this page.</p>')
