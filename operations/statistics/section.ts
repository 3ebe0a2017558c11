import { section } from '#runtime/section'

export default section({
  title: 'Statistics and conversions',
  description:
    'Revenue recovered by messages: conversions by source, day and product, everything that was sent, and the synced orders of the platform.',
  position: 3,
  order: [
    'get_statistics_export',
    'get_statistics',
    'get_statistics_products',
    'get_conversions',
    'get_conversions_summary',
    'get_conversions_recovered_total',
    'get_conversions_export',
    'get_analytics_orders',
  ],
  words: {
    synonyms: ['order purchase', 'conversion attributed attribution source thanks'],
    sectionSynonyms: [
      'statistics number performance',
      'recovered abandoned cart back return won win save',
      'conversion sale revenue money order brought bring came come',
      'product bestseller best top',
    ],
    translations: [
      'pedido encomenda orden compra: order',
      'comprar comprou compraram compraron: order buy',
      'mais_vendidos mas_vendidos: bestseller & product sell',
      'recuperar recuperado: recovered',
      'atribuicao atribucion conversao conversion converter convertir: conversion',
      'vir vieram vinieron trazer traer trouxe trouxeram trajo trajeron gerar generar: brought',
      'grafico: chart',
      'dia diario: day',
    ],
  },
})
