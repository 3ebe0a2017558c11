import { section } from '#runtime/section'

export default section({
  title: 'Notifications',
  description:
    'Notifications of the dashboard to the members of the store: finished exports, problems, and whatever your own systems add. Each member has their own read status.',
  position: 8,
  order: [
    'get_notifications',
    'post_notifications_create',
    'delete_notifications_remove',
    'post_notifications_read',
    'post_notifications_read_all',
  ],
  words: {
    synonyms: ['notification alert bell notice'],
    sectionSynonyms: ['notification news'],
    translations: [
      'sino campana campanita notificacao notificacion aviso avisos alerta: notification alert',
      'avisar: tell alert notification',
    ],
  },
})
