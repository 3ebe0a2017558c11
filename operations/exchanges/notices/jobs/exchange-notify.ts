import { outbox } from '#operations/messaging/index'
import { job } from '#runtime/job'
import { exchangeNotify } from '../../handles.ts'
import { notices } from '../outbox-source.ts'

export default job(exchangeNotify, {
  description: 'Tells a shopper what became of a request, on one channel',
  retry: { limit: 8, backoffSeconds: 15 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ noticeId }) => noticeId,
  safeTwice:
    'A notice is unique by request, event, sequence and channel; it is claimed with its text before it is sent, under its own key.',
  async run(ctx, { noticeId }) {
    const at = await outbox.dispatchOne(ctx, notices, noticeId)
    if (at) await ctx.queue(exchangeNotify, { noticeId }, { at })
  },
  failed: (ctx, { noticeId }) => outbox.deadLetter(ctx, notices, noticeId),
})
