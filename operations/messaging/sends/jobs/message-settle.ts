import { serverJob } from '#runtime/job'
import { messageSettle } from '../../handles.ts'
import { dispatchSend } from '../outbox-source.ts'
import { findStaleSends } from '../stale-sends.ts'

export default serverJob(messageSettle, {
  description: 'Resolves queued single sends: retries them if that is safe, or ends them',
  retry: { limit: 3, backoffSeconds: 5 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ messageId }) => messageId ?? 'all',
  everySeconds: 60,
  storeByStore: true,
  safeTwice:
    'A message is claimed before it is sent again, always under the same key; otherwise the job only reads its status.',
  async run(system, { storeId, messageId }, { signal }) {
    const found =
      storeId && messageId ? [{ storeId, messageId }] : await findStaleSends(system.root, system.now())
    for (const each of found) {
      if (signal.aborted) return
      const ctx = await system.forStore(each.storeId)
      if (ctx) await dispatchSend(ctx, each.messageId)
    }
  },
})
