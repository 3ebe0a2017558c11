import { section } from '#runtime/section'

export default section({
  title: 'Notifications',
  description:
    'What the dashboard tells the people of the store: finished exports, trouble, whatever your own systems add. Each person reads for themselves.',
  position: 8,
  order: [
    'get_notifications',
    'post_notifications_create',
    'delete_notifications_remove',
    'post_notifications_read',
    'post_notifications_read_all',
  ],
  words: {
    alike: ['notification alert bell notice'],
    alikeHere: ['notification news'],
    abroad: [
      'sino campana campanita notificacao notificacion aviso avisos alerta: notification alert',
      'avisar: tell alert notification',
    ],
  },
})
