import { section } from '#runtime/section'

export default section({
  title: 'Discovery',
  description: 'What this API offers, and what your key may run of it.',
  position: 1,
  order: ['get_operations', 'get_openapi_json'],
  words: {
    sectionSynonyms: ['operation can do ability'],
    translations: ['fazer_por_mim hacer_por_mi sabe_fazer sabes_hacer: operation & abilities'],
  },
})
