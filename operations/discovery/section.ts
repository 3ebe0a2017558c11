import { section } from '#runtime/operation'

export default section({
  title: 'Discovery',
  description: 'What this API offers, and what your key may run of it.',
  position: 1,
  order: ['get_operations', 'get_openapi_json'],
})
