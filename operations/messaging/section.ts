import { section } from '#runtime/operation'

export default section({
  title: 'Messaging connection and templates',
  description:
    "The number a store's messages leave through, and the approved templates of an official number.",
  position: 4,
  order: [],
})
