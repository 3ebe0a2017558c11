import { extensions } from '#runtime/extensions'
import { countUnread } from './visibility.ts'

export default extensions({
  pending: { 'notifications-unread': { feature: null, count: countUnread } },
})
