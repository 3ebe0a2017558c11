import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { inboxSend } from '../../handles.ts'
import { findStuckConversations } from '../../sending/watch.ts'
import { checkConnection, findStoresToCheck } from '../switch.ts'

export default serverJob(handle('inbox-watchdog', object({})), {
  description: 'Looks for messages that no worker looks after, and for inboxes whose number is gone',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 55,
  everySeconds: 60,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice: 'It only queues jobs that run one at a time; a conditional update notifies the merchant once.',
  async run(system) {
    for (const storeId of await findStoresToCheck(system)) {
      const ctx = await system.forStore(storeId)
      if (ctx) await checkConnection(ctx)
    }
    for (const { store_id, conversation_id } of await findStuckConversations(system)) {
      const ctx = await system.forStore(store_id)
      await ctx?.queue(inboxSend, { conversationId: conversation_id })
    }
  },
})
