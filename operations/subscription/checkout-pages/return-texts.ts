/** Texts of the page a payer returns to. */
import { answerHtml } from '#operations/store/index'
import type { ReturnResult } from './billing-return.ts'

const again = '<p><a class="alone" href="">Look again</a></p>'

export function renderReturnPage(returned: ReturnResult): Response {
  switch (returned.result) {
    case 'approved':
      return returned.isCardUpdate
        ? answerHtml('The card is saved', '<p>It will be charged from now on. You can close this page.</p>')
        : answerHtml(
            'Thank you',
            '<p>The payment went through and your plan is on. You can close this page.</p>',
          )
    case 'rejected':
      return answerHtml(
        'The card was declined',
        '<p>Nothing was charged and nothing has changed. Start again with another card.</p>',
      )
    case 'closed':
      return answerHtml(
        'This checkout is closed',
        '<p>A newer one took its place, or it was cancelled. Whatever was paid for it is paid back.</p>',
      )
    case 'waiting':
      return answerHtml(
        'The payment is being processed',
        `<p>That can take a few minutes. Your plan is turned on by itself once it went through.</p>${again}`,
      )
    case 'unanswered':
      return answerHtml(
        'We cannot see the payment yet',
        `<p>The payment provider does not answer. Nothing is lost: we ask it again by ourselves.</p>${again}`,
        503,
      )
    case 'unknown':
      return answerHtml('There is no such checkout', '<p>Look whether the address is complete.</p>', 404)
  }
}
