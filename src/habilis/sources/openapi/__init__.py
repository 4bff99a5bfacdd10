"""Operations of an OpenAPI document (3.0, 3.1; Swagger 2.0) as tools."""

from habilis.sources.openapi.source import OpenApiSource

__all__ = ["OpenApiSource"]
