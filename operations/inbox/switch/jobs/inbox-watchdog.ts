import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { inboxSend } from '../../handles.ts'
import { stuckConversations } from '../../sending/watch.ts'
import { noticeConnection, storesToNotice } from '../switch.ts'

export default serverJob(handle('inbox-watchdog', object({})), {
  description: 'Looks for messages that no worker looks after, and for inboxes whose number is gone',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 55,
  everySeconds: 60,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice: 'It only queues jobs that run one at a time; the merchant is told in one conditional update.',
  async run(system) {
    for (const storeId of await storesToNotice(system)) {
      const ctx = await system.forStore(storeId)
      if (ctx) await noticeConnection(ctx)
    }
    for (const { store_id, conversation_id } of await stuckConversations(system)) {
      const ctx = await system.forStore(store_id)
      await ctx?.queue(inboxSend, { conversationId: conversation_id })
    }
  },
})
