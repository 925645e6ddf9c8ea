module Records (Point (..), Point3) where
data Point = Point { px :: Int, py :: Int }
data Point3 = Point3 { x, y, z :: Int }
