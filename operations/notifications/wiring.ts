import { wiring } from '#runtime/wiring'
import { unreadCount } from './kept.ts'

export default wiring({
  pending: { 'notifications-unread': { feature: null, count: unreadCount } },
})
